"""What labels prove: intervals, certificates, and what contradicts."""
