"""What is made of finished trials: tables, figures, the page."""
