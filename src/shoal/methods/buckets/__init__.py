"""People with bucket numbers, and buckets with values: nobody is linked to a value by more than its limit."""
