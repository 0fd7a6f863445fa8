"""A row of a batch as lists, and what it is compared with: the slow story of that row (see `tests.oracles.stages`)."""

import pytest

from tests.texts import SPECIALS, row_of


def texts(tokens):
    """The ids of each text, without padding."""
    return [tokens.ids[r, : tokens.lengths[r]].tolist() for r in range(len(tokens.ids))]


def shown(stream, row):
    """Ids, origins and positions of a row's real positions, which must stand at its beginning."""
    count = int(stream.valid[row].sum())
    assert stream.valid[row, :count].all()
    return tuple(values[row, :count].tolist() for values in (stream.ids, stream.origin, stream.position_ids))


def scored_answers(batch, row):
    """The scored answers of the first question of a row."""
    target = batch.targets[0]
    return target.labels[row][target.loss_mask[row]].tolist()


def dense(attn_mask, row, readers, read):
    """The cells of a row's attention mask as lists."""
    cells = attn_mask.dense()
    return cells[min(row, len(cells) - 1), :readers, :read].tolist()


def plan_of_row(step, row, length):
    """The row's own lists out of a batched plan; what has a value for each place of the text ends with the text."""
    if step.plan is None:
        return None
    values = row_of(step.plan, row, step.batch.selected.shape[1])
    if not isinstance(values, dict):
        return values[:length] if isinstance(values, list) else values
    spans = {"start", "length", "predicted"}
    return {k: v[:length] if isinstance(v, list) and k not in spans else v for k, v in values.items()}


def assert_row_is_story(batch, row, story):
    """One row of a batched example says the same as the slow story of that row."""
    size = len(story.text)
    assert texts(batch.tokens)[row] == story.text
    assert shown(batch.inputs, row) == (story.inputs.ids, story.inputs.origin, story.inputs.position)
    second = batch.inputs.second_position_ids
    own = None if second is None else second[row, : len(story.inputs.ids)].tolist()
    assert own == story.inputs.second
    assert batch.selected[row, :size].tolist() == story.chosen
    assert batch.actions[row, :size].tolist() == story.done
    assert batch.prediction_order[row, :size].tolist() == story.rank
    if story.decoder is not None:
        assert shown(batch.decoder, row) == (story.decoder.ids, story.decoder.origin, story.decoder.position)
    assert_sees(batch, row, story)
    read = {name: label.ids[row, : len(story.inputs.ids)].tolist() for name, label in batch.inputs.label_ids.items()}
    assert read == story.read
    assert len(batch.targets) == len(story.asked)
    for target, asked in zip(batch.targets, story.asked, strict=True):
        count = len(asked.labels)
        assert target.labels[row, :count].tolist() == asked.labels
        assert target.loss_mask[row, :count].tolist() == asked.scored
        assert target.origin[row, :count].tolist() == asked.origin
        assert not target.loss_mask[row, count:].any()
        assert not asked.reads or target.reads[row, :count].tolist() == asked.reads
        assert (target.loss_weights is None, target.mean_over is None) == (asked.weights is None, asked.counted is None)
        if asked.weights is not None:
            weights = target.loss_weights[row, :count] * target.loss_mask[row, :count]
            assert weights.tolist() == pytest.approx(asked.weights)
            assert target.mean_over[row].nonzero()[:, 0].tolist() == [k for k, yes in enumerate(asked.counted) if yes]


def assert_sees(batch, row, story):
    """From the stage that sees on, every mask is that of the story, and there is no other."""
    n, m = len(story.inputs.ids), len(story.decoder.ids) if story.decoder else 0
    for name, cells in story.sees.items():
        attn_mask = {
            "inputs": lambda: (batch.inputs.attn_mask, n, n),
            "query": lambda: (batch.inputs.query_attn_mask, n, n),
            "decoder": lambda: (batch.decoder.attn_mask, m, m),
            "cross": lambda: (batch.decoder.cross_attn_mask, m, n),
        }[name]()
        assert dense(attn_mask[0], row, *attn_mask[1:]) == cells, name
    if story.sees:
        assert ("query" in story.sees) == (batch.inputs.query_attn_mask is not None)
        assert {"decoder", "cross"} <= set(story.sees) or batch.decoder is None


def restored(batch, row):
    """The text put together again from what the model sees and what it must answer."""
    text = [None] * int(batch.tokens.lengths[row])
    for token, position in zip(*shown(batch.inputs, row)[:2], strict=True):
        if position >= 0:
            text[position] = token
    for target in (*(batch.generator.targets if batch.generator else ()), *batch.targets):
        if target.kind.names_words:
            for position in target.loss_mask[row].nonzero().flatten().tolist():
                if target.origin[row, position] >= 0:
                    text[target.origin[row, position]] = int(target.labels[row, position])
    return text


def closed(targets):
    """What is written before the [END] that closes it; where nothing is written, nothing closes it."""
    assert not targets or targets[-1] == SPECIALS.end
    return targets[:-1]


def parts_by_sentinel(targets):
    """What is written behind each sentinel."""
    parts, current = {}, None
    for token in targets:
        if token in SPECIALS.sentinels:
            assert token not in parts
            current = parts[token] = []
        else:
            current.append(token)
    return parts
