"""The API: a profile, and a comparison of profiles, with a method for each question."""
