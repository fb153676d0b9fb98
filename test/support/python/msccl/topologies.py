def fully_connected(ranks):
    return ranks
