"""What an owner looks into before choosing a method: curves, comparisons, and charts of them.

All of it is owner only, except forecasts, which look at no table. Uses methods and measures; the
command line uses it.
"""
