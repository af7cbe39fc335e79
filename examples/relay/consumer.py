#!/usr/bin/env python3
"""Reads CloudEvents from RabbitMQ, each one once and in the order of its stream.

    apt-get install python3-pika
    RABBITMQ_URL=amqp://guest:guest@localhost:5672/%2F python3 consumer.py OrderPlaced OrderPaid

The arguments are the addresses to listen to: the `destination` of the rows that a relay publishes.
QUEUE is the name of this consumer's own queue (python-consumer), DATABASE its SQLite file (events.db).
"""

import json
import os
import signal
import sqlite3
import sys

import pika


def attributes(properties):
    """The attributes of a CloudEvent in binary mode are headers: cloudEvents:id, cloudEvents:type …"""
    headers = properties.headers or {}
    return {name.split(":", 1)[1]: value for name, value in headers.items() if name.startswith("cloudEvents:")}


def read(properties, body):
    """Returns the attributes and the data. Large attributes come in structured mode: one JSON object."""
    content_type = (properties.content_type or "").split(";")[0].strip()
    if content_type == "application/cloudevents+json":
        event = json.loads(body)
        return event, event.get("data")
    return attributes(properties), json.loads(body)


def main(addresses):
    database = sqlite3.connect(os.environ.get("DATABASE", "events.db"))
    database.execute("create table if not exists seen (source text, id text, primary key (source, id))")
    database.execute("create table if not exists events (n integer primary key, type text, stream text, data text)")

    connection = pika.BlockingConnection(pika.URLParameters(os.environ["RABBITMQ_URL"]))
    channel = connection.channel()
    # The exchange of the relay. Routing keys are the address, a dot, and a slot.
    channel.exchange_declare("whizbang.events", exchange_type="topic", durable=True)
    queue = os.environ.get("QUEUE", "python-consumer")
    # One consumer at a time: with two, the order of a stream would be lost. The others wait to take over.
    # With a limit, a message that comes again goes to the head of the queue and not to its end; this one is never reached.
    arguments = {"x-queue-type": "quorum", "x-single-active-consumer": True, "x-delivery-limit": 1_000_000_000}
    channel.queue_declare(queue, durable=True, arguments=arguments)
    for address in addresses:
        channel.queue_bind(queue, "whizbang.events", f"{address}.*")
    channel.basic_qos(prefetch_count=100)

    def handle(channel, method, properties, body):
        event, data = read(properties, body)
        # A message may come twice. Its id is kept in the transaction of its effect, so the effect is there once.
        with database:
            new = database.execute("insert or ignore into seen values (?, ?)", (event["source"], event["id"]))
            if new.rowcount == 1:
                database.execute(
                    "insert into events (type, stream, data) values (?, ?, ?)",
                    (event["type"], event.get("partitionkey"), json.dumps(data)),
                )
        channel.basic_ack(method.delivery_tag)  # after the commit
        print(event["type"], event.get("partitionkey"), json.dumps(data), flush=True)

    # An error ends the process, and with it the channel: what was not acknowledged comes again, in its order.
    # basic_nack would let later messages of the stream pass.
    channel.basic_consume(queue, handle)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print(f"listening to {', '.join(addresses)}", flush=True)
    channel.start_consuming()


if __name__ == "__main__":
    main(sys.argv[1:] or ["OrderPlaced", "OrderPaid"])
