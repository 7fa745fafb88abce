"""HedgeClipperClassifier beside other methods, two of which have environments of their own."""
