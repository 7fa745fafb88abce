"""What labels prove: intervals, certificates, class rates, and tested predictions."""
