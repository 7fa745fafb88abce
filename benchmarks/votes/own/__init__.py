"""Our own methods in the form of peers; they run in our environment."""
