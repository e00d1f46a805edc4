import unittest

from shipping import shipping_cost


class ShippingCost(unittest.TestCase):
    def test_a_light_parcel_has_the_lowest_price(self):
        self.assertEqual(shipping_cost(0.4, 20), 4.90)

    def test_a_limit_belongs_to_the_cheaper_rate(self):
        self.assertEqual(shipping_cost(1, 20), 4.90)
        self.assertEqual(shipping_cost(5, 20), 7.90)

    def test_the_heaviest_parcel_can_be_sent(self):
        self.assertEqual(shipping_cost(20, 20), 14.90)

    def test_large_orders_are_sent_free_of_charge(self):
        self.assertEqual(shipping_cost(3, 100), 0)

    def test_what_is_too_heavy_or_weighs_nothing_is_refused(self):
        for weight in (20.5, 0):
            with self.assertRaises(ValueError):
                shipping_cost(weight, 20)


if __name__ == "__main__":
    unittest.main()
