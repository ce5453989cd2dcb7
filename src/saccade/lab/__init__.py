"""The laboratory judges what other rooms compute: claims, their verdicts, runs, their store."""
