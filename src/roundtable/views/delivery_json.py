"""A delivery as plain JSON: the keys that the result, the page and the tools share."""

from __future__ import annotations

from typing import Any

from .delivery import Delivery
from .delivery_parts import Decided, Seat


def document(delivery: Delivery) -> dict[str, Any]:
    """Everything that a delivery says, by ids and in words."""
    question = delivery.question
    return {
        "headline": delivery.headline,
        "answer": delivery.answer,
        "brief": delivery.brief,
        "end": {
            "end": question.end if question else None,
            "told": question.told if question else delivery.headline,
            "reason": question.reason if question else "",
            "delivered": question.delivered if question else None,
            "answer": question.answer if question else "",
            "agreement": question.share if question else None,
            "holding": question.holding if question else 0,
            "seated": question.seated if question else 0,
        },
        "vote": [_decision_document(each) for each in delivery.decisions],
        "seats": [_seat_document(each) for each in delivery.seats],
        "confidence": {
            "word": delivery.confidence.word if delivery.meaningful else "none",
            "told": delivery.sureness,
            "probability": delivery.confidence.probability,
            "low": delivery.confidence.low,
            "high": delivery.confidence.high,
            "reason": delivery.confidence.reason,
            "meaning": delivery.confidence.meaning,
            "voters": delivery.voters,
        },
        "dissent": [
            {
                "participant": each.participant,
                "name": each.name,
                "position": each.position,
                "reason": each.reason,
                "quotation": each.quotation,
                "turn_id": each.turn_id or None,
                "gave_in": each.gave_in,
                "counted": not each.uncounted,
                "not_counted_because": each.uncounted or None,
            }
            for each in delivery.dissent
        ],
        "conditions": [
            {
                "id": each.id,
                "text": each.text,
                "kind": each.kind,
                "participant": each.owner,
                "name": each.name,
                "granted": each.granted if each.kind == "demand" else None,
                "status": each.status or None,
                "agreed": list(each.agreed),
                "refused": list(each.disagreed),
                "partly": list(each.doubts),
                "reasons": list(each.reasons),
                "otherwise": each.otherwise,
                "of_the_answer": each.of_the_answer,
                "same_as": each.same_as or None,
            }
            for each in delivery.conditions
        ],
        "why": list(delivery.why),
        "would_change": list(delivery.would_change),
        "assumptions": [
            {"text": each, "rests_on": each in delivery.rests_on} for each in delivery.assumptions
        ],
        "next_steps": [each.model_dump() for each in delivery.next_steps],
        "contradicts": delivery.contradicts,
        "findings": [
            {"code": f.code, "message": f.message, "excerpt": f.excerpt, "serious": f.serious}
            for f in delivery.findings
        ],
        "flags": list(delivery.flags),
        "absent": list(delivery.absent),
    }


def _decision_document(each: Decided) -> dict[str, Any]:
    return {
        "decision": each.id,
        "question": each.question,
        "end": each.end,
        "told": each.told,
        "options": [
            {
                "id": option.id,
                "text": option.text,
                "participants": list(option.participants),
                "names": list(option.names),
                "delivered": option.delivered,
                "at_first": option.at_first,
                "acceptable": list(option.acceptable),
                "rejected": list(option.rejected),
            }
            for option in each.options
        ],
        "common_ground": each.common_ground,
        "dissenting": list(each.dissenting),
        "own": list(each.named("own")),
        "no_preference": list(each.named("any")),
        "abstaining": list(each.named("abstains")),
        "undeclared": list(each.named("undeclared", "")),
        "absent": list(each.named("absent")),
        "not_counted": list(each.named("demonstration")),
    }


def _seat_document(seat: Seat) -> dict[str, Any]:
    return {
        "participant": seat.participant,
        "name": seat.name,
        "status": seat.status or "silent",
        "opening": seat.opening,
        "final": seat.final,
        "told": seat.told,
        "first_choice": seat.first_choice or None,
        "choice": seat.choice or None,
        "cast": seat.cast or None,
        "position": seat.position,
        "holds_the_answer": seat.holds,
        "could_live_with_it": seat.accepts,
        "independent": seat.independent,
        "moved": seat.moved,
        "moved_by": seat.moved_by or None,
        "argument": seat.argument,
        "further_arguments": list(seat.further),
        "gave_in": seat.gave_in,
        "demands": list(seat.demands),
        "missed": seat.missed or None,
        "last_declared": seat.last or None,
        "in_between": list(seat.between),
        "confidence": seat.confidence,
        "turn_id": seat.turn_id or None,
    }
