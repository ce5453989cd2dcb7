"""Speed of sparse recovery, against other libraries doing the same work in the same run."""
