"""What labels prove: intervals, certificates, class rates, tested predictions, whole files."""
