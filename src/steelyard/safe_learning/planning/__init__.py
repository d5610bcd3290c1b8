"""Plans that are proven safe: searched for by cost, certified for every state of a tube.

`search` finds the plan, `cost` says what it is good for, and `certifier` proves it and gives a `certificate`.
`tube` holds the states that a law may lead to, `tube_sizing` its width, `delay_bounds` what late readings
cost, and `margins` are cheap estimates that guide the search.
"""
