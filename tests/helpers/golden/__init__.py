"""Golden runs: what the command line printed and wrote at an earlier commit, to compare with ever after."""
