"""The learner of guards: the fewest guards over features, then literals, then states, that explain every reward."""
