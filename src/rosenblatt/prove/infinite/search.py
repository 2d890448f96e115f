"""Search: from a certificate to what proves the state of every coefficient."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from rosenblatt.data.cone import Cone
from rosenblatt.prove.certificate import Certificate, Separable
from rosenblatt.prove.infinite.aliases import Aliases, aliases, combinations
from rosenblatt.prove.infinite.columns import Columns
from rosenblatt.prove.infinite.proof import Claim, Evidence, Number, split_off, subset
from rosenblatt.prove.infinite.relations import Relation, Terms
from rosenblatt.prove.infinite.signs import Clock, Signs
from rosenblatt.prove.infinite.space import Space


def search(
    rows: Cone, certificate: Certificate, columns: Columns, clock: Clock
) -> tuple[Evidence, list[Claim]]:
    """Columns to drop; what is orthogonal to F; members of the cone, and signs of columns."""
    proof = getattr(certificate, "proof", None)
    alias = aliases(
        rows,
        certificate.fit_intercept,
        columns,
        () if proof is None else proof.rows,
        lambda: clock.tick("looking for collinear columns"),
    )
    directions = None
    if proof is not None:
        order = sorted(alias.kept, key=lambda j: (j != rows.n_features, j))
        face = combinations(rows, proof.rows, order)
        directions = tuple(_direction(r) for r in face.relations)
    claims, members = [Claim(j) for j in alias.kept], []
    if directions != ():
        signs = _signs(rows, certificate, alias, directions, columns, clock)
        hints = _hints(signs.inner, alias, columns)
        claims, members = signs.claims(hints), signs.members
    evidence = Evidence(
        certificate, alias.kept, alias.relations, alias.spanning, directions, tuple(members)
    )
    return evidence, claims


def _signs(
    rows: Cone,
    certificate: Certificate,
    alias: Aliases,
    directions: tuple[Terms, ...] | None,
    columns: Columns,
    clock: Clock,
) -> Signs:
    if isinstance(certificate, Separable):
        outer, at = rows, np.arange(rows.n_rows)
    else:
        at = split_off(certificate, rows)
        outer = subset(rows, at)
    largest = np.append(columns.largest, 1.0)[list(alias.kept)]
    scale = np.ldexp(1.0, np.clip(-np.frexp(largest)[1], -1000, 1000))
    space = Space(outer, certificate.fit_intercept, alias.kept, directions, scale)
    return Signs(space, at, _on_kept(certificate, alias), clock)


def _direction(relation: Relation) -> Terms:
    """A relation as the vector it says is orthogonal to the rows."""
    return tuple(sorted([(relation.column, Fraction(1)), *((j, -v) for j, v in relation.terms)]))


def _on_kept(certificate: Any, alias: Aliases) -> tuple[Number, ...]:
    """The certificate's hyperplane, written without the dropped columns."""
    w = [*certificate.w, certificate.b] if certificate.fit_intercept else list(certificate.w)
    for relation in alias.relations:
        value = Fraction(w[relation.column])
        for j, v in relation.terms if value else ():
            w[j] = Fraction(w[j]) + v * value
        w[relation.column] = 0.0
    return tuple(w)


def _hints(inner: tuple[Number, ...], alias: Aliases, columns: Columns) -> list[tuple[Number, ...]]:
    """Where y_i x_ij has one sign in all rows, e_j is in the cone: go far along all of these."""
    kept = set(alias.kept)
    one = {j: int(s) for j, s in enumerate(columns.one_signed()) if s and j in kept}
    if not one:
        return []
    top = 1 + max(abs(Fraction(v)) for v in inner)
    return [tuple(Fraction(v) + one[j] * top if j in one else v for j, v in enumerate(inner))]
