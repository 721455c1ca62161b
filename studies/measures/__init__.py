"""What can be measured of a novel without a judge."""
