"""Forms with files in them."""

from __future__ import annotations

from parts.web.test_uploads import MALFORMED
from promises.web.conftest import MOST_BYTES, Site


def test_the_page_says_that_it_is_no_form(loan: Site) -> None:
    with loan.client() as client:
        for header, body in [one for one in MALFORMED[:-3] if len(one[1]) <= MOST_BYTES]:
            assert client.post("/open", content=body, headers={"content-type": header}).status_code == 400
