"""Keeps the tables of earlier questions: the store, its entries and folders."""
