"""People from files and data frames: as level numbers, one by one or counted, and what is wrong with their rows."""
