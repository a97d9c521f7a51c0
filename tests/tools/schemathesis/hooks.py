"""What the JSON Schemas of single parameters cannot say."""

import json
import os
import re

import requests
import schemathesis
from schemathesis import GenerationMode

# Milliseconds from the year 0 to the year 9999, and those that JavaScript has as dates. docs/openapi.md says that answers
# write other years as no `date-time`
USUAL_TIMES = (-62_167_219_200_000, 253_402_300_799_999)
ALL_TIMES = 8.64e15

# Node answers 431 by itself to a request line and headers of more than 16 kB
LONGEST = 4_000

API = os.environ["API"]
NAME, _, VALUE = os.environ["HEADER"].partition(": ")


@schemathesis.hook
def filter_case(context, case):
    """Leaves out requests that never come to the application."""
    return len(json.dumps(case.query or {})) <= LONGEST


@schemathesis.hook
def before_add_examples(context, examples):
    """Writes the example of a filter that is required as JSON once: the tool writes it as a text of JSON."""
    for case in examples:
        q = case.query.get("q") if case.query else None
        if isinstance(q, str) and q.startswith('"'):
            case.query["q"] = json.loads(q)


@schemathesis.hook
def map_case(context, case):
    """Changes valid requests only: the others shall stay as wrong as they are."""
    if case.meta is None or case.meta.generation.mode != GenerationMode.POSITIVE:
        return case
    case.body = without_long_numbers(without_far_dates(case.body))
    # A reference has to name an entity that is there
    if isinstance(case.body, dict) and isinstance(case.body.get("organisation"), str):
        case.body["organisation"] = find_organisation()
    # An agent has to be one of the desk
    if isinstance(case.body, dict) and isinstance(case.body.get("agent"), str):
        case.body["agent"] = "bob"
    # A body that may be missing is taken for a wrong one if it is
    if case.operation.path.startswith("/keys") and case.operation.method.upper() == "POST":
        case.body = key_that_lasts(case.body if isinstance(case.body, dict) else {})
    query = case.query or {}
    if isinstance(query.get("q"), str):
        query["q"] = filter_without_long_numbers(query["q"])
    # `after` refuses `skip` beside it, and text that no `Link` had. With `sort`, it has to name an entity that is there
    if "after" in query and ("skip" in query or "sort" in query or not is_identifier(query["after"])):
        del query["after"]
    if "sort" in query:
        query["sort"] = each_field_once(query["sort"])
    if case.operation.path.startswith("/shelves/{id}/") and case.meta.phase.name.value == "fuzzing":
        known = find_parts()
        for name in case.path_parameters.keys() & known.keys():
            case.path_parameters[name] = known[name]
    return case


def each_field_once(keys):
    """Leaves out keys of an order that name a field again: `sort` refuses a field in both directions."""
    listed = keys.split(",") if isinstance(keys, str) else keys
    if not isinstance(listed, list):
        return keys
    once = list({str(key).lstrip("-"): key for key in listed}.values())
    return ",".join(once) if isinstance(keys, str) else once


def without_far_dates(value):
    """Moves numbers that are dates of other years, where a field is one, into usual years."""
    if isinstance(value, dict):
        return {key: without_far_dates(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_far_dates(each) for each in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    is_far = not USUAL_TIMES[0] <= value <= USUAL_TIMES[1]
    return value % USUAL_TIMES[1] if is_far and abs(value) <= ALL_TIMES else value


# From here on, a parser may have rounded an integer: which of them a field refuses, no schema can say
UNSAFE = 2**53


def key_that_lasts(body):
    """A key has a name and scopes of operations that are there, ends in the future, and overlaps for 7 days at most."""
    fixed = {"name": "key", "scopes": ["tickets:all"], "expiresAt": None, "overlap": "1h"}
    return {name: fixed.get(name, value) for name, value in body.items()}


def without_long_numbers(value):
    """Shortens numbers whose digits a parser may have rounded, which are a 400."""
    if isinstance(value, dict):
        return {key: without_long_numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [without_long_numbers(each) for each in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return value if abs(value) < UNSAFE else UNSAFE - 1 if value > 0 else 1 - UNSAFE


def filter_without_long_numbers(text):
    """Does the same in a filter, which is a text of JSON. Leaves other texts alone."""
    try:
        return json.dumps(without_long_numbers(json.loads(text)))
    except ValueError:
        return text


def is_identifier(value):
    """Tells identifiers from the text of `Link`, which cannot be made up."""
    return re.fullmatch("[0-9a-fA-F]{24}", str(value)) is not None


def find_organisation():
    """Names an organisation of the help desk, if there is one."""
    listed = requests.get(f"{API}/organisations", headers={NAME: VALUE}, timeout=10).json()
    return listed[0]["_id"] if listed else None


def find_parts():
    """Names a shelf that has books, one of them, and its author: nearly all random identifiers are unknown."""
    shelves = requests.get(f"{API}/shelves", headers={NAME: VALUE}, timeout=10).json()
    shelf = max(shelves, key=lambda each: len(books_of(each)))
    known = {"id": shelf["_id"]}
    for book in books_of(shelf):
        known["subId"] = book["_id"]
        for author in book.get("authors") or []:
            known["subId2"] = author
            return known
    return known


def books_of(shelf):
    """Lists the books of a shelf: a body can store null among them."""
    return [book for book in shelf.get("books") or [] if book is not None]
