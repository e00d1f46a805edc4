"""What it costs to send a parcel."""

# Up to so many kilograms, in the order they are looked through, and the price.
RATES = ((1, 4.90), (5, 7.90), (20, 14.90))

# Orders of this value and above are sent free of charge.
FREE_FROM = 100


def shipping_cost(weight, order_value):
    """The price for a parcel of this weight in kilograms; ValueError when it is too heavy to be sent."""
    if weight <= 0:
        raise ValueError("a parcel weighs something")
    for heaviest, price in RATES:
        if weight < heaviest:
            return 0 if order_value >= FREE_FROM else price
    raise ValueError(f"{weight} kg is too heavy for a parcel")
