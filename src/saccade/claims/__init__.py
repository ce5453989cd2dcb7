"""What must hold: one file or folder per study, each claim judging an experiment against theory."""
