"""What is drawn: machines, worlds, and the geometry and style behind both."""
