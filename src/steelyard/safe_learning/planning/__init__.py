"""Plans that are proven safe: searched for by cost, certified for every state of a tube."""
