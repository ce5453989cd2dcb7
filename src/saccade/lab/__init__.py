"""The laboratory: claims and their verdicts, runs and their store, reports. It judges what the other rooms compute."""
