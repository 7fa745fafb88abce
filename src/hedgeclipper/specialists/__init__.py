"""Who is awake where: vote matrices, and voters beside them."""
