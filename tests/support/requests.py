"""The functions of httpx for the service on this machine; theirs read all certificates for each request, for 30 ms."""

from __future__ import annotations

from functools import partial

import httpx

get = partial(httpx.get, verify=False)
head = partial(httpx.head, verify=False)
post = partial(httpx.post, verify=False)
put = partial(httpx.put, verify=False)
delete = partial(httpx.delete, verify=False)
request = partial(httpx.request, verify=False)
stream = partial(httpx.stream, verify=False)
