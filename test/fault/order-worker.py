"""Charges each order once, ships it once if somebody approves, and notes each act in a file."""

import os
import time

from svc_agents import Svc


def act(kind, order):
    # Long enough that a kill often falls into it.
    time.sleep(0.5)
    with open(os.environ["ACTS"], "a", encoding="utf-8") as file:
        file.write(f"{kind} {order}\n")


def handler(event, ctx):
    order = event["payload"]["order"]
    ctx.once("charge", lambda: act("charged", order))
    answer = ctx.ask.approval("order.ship", f"Ship {order}", bind={"order": order})
    ctx.spend(answer)
    ctx.once("ship", lambda: act("shipped", order))
    return {"order": order}


Svc().work({"source": "shop"}, handler, concurrency=4, lease_seconds=120)
