"""The laboratory: claims and their verdicts, runs and their store. It judges what the other rooms
compute."""
