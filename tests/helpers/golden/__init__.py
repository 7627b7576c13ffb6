"""Golden runs: what the command line printed and wrote before the package was rebuilt, to compare with ever after."""
