"""The report: one HTML file that opens from disk, offline, with all answers as sentences, pictures and tables."""
