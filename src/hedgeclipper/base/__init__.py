"""What the three estimators share: rows on the way in, predictions on the way out."""
