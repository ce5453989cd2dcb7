"""What people look at: one file or folder per study, drawing experiments beside theory."""
