"""Other libraries' names and conventions over this engine."""
