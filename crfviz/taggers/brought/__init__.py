"""Models that people bring: files of other programs, understood before they are used."""
