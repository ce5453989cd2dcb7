"""Real data: images and sentences; where they come from, their licence and checksum."""
