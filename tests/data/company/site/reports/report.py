"""Takings of a year, month by month, signed with the key of the reports."""
import hashlib
import hmac
import os
import sys

from company import takings

year = sys.argv[1]
text = "".join(f"{month} {cents / 100:.2f}\n" for month, cents in takings(year))
key = os.environ["REPORT_KEY"].encode()
print(text + "signed " + hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:16])
