"""`Release` and `Certificate`, and `verification`, which checks them with none of the code that made them."""
