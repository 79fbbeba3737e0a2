"""What an owner looks into before choosing a method: curves, comparisons, and charts of them.

All of it is owner only. Uses methods and measures; the command line uses it.
"""
