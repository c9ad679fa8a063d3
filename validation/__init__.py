"""Published measurements and the comparison of simulated runs with them."""
