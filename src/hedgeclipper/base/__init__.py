"""What the three estimators have in common: checks of rows, predictions, and inspection."""
