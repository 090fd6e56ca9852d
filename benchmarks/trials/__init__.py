"""Trials: every profile is damaged in every way there is, and its answers are held against those of the undamaged one."""
