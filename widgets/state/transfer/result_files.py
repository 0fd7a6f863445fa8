"""The result of a comparison as files."""

import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from playground.errors import UserError
from playground.finetuning.report.page import FILES, TURN_FILES, ContinualReport, Draw, Origin, Report
from playground.tokenizing import Tokenizer
from playground.training import checkpoint
from playground.training.checkpoint import CorpusInfo
from playground.training.train_state import TrainState
from widgets.state.transfer.trials import Trials


@dataclass(frozen=True)
class ResultFiles:
    """The files of a comparison; `checkpoints` are saved models by their folders, `draw` makes the figure."""

    trials: Trials
    origin: Origin | None
    checkpoints: Mapping[str, bytes]
    draw: Draw

    def file(self, name: str, in_archive: bool = False) -> bytes:
        """One of `FILES` of the result, of tasks in turn one of `TURN_FILES`; refused where there is no result yet.

        A notebook, and what is in the archive, begin from the folder of the model that is there too.
        """
        trials, origin = self.trials, self.origin
        asked = trials.asked if in_archive or name.endswith(".ipynb") else trials.typed
        if name in TURN_FILES:
            if trials.found is None or trials.state != "done" or origin is None:
                raise UserError("The sequence of tasks is not finished; press Compare and wait for the end.")
            return TURN_FILES[name](ContinualReport(tuple(trials.passed), asked, origin, trials.in_turn))
        if trials.result is None or origin is None:
            raise UserError("There is no finished comparison yet; press Compare and wait for the verdict.")
        return FILES[name](Report(trials.result, asked, origin, self.draw))

    def archive(self) -> bytes:
        """All files and the base model in one archive; the notebook and the command in it run without changes."""
        kept = io.BytesIO()
        with zipfile.ZipFile(kept, "w", zipfile.ZIP_DEFLATED) as archive:
            for folder, content in self.checkpoints.items():
                archive.writestr(f"{folder}/checkpoint.safetensors", content)
            if (own := self.trials.own_file) is not None:
                archive.writestr(own.name, own.read_bytes())
            for name in TURN_FILES if self.trials.in_turn else FILES:
                try:
                    archive.writestr(name, self.file(name, in_archive=True))
                except UserError as refusal:
                    archive.writestr(f"{name}.missing.txt", str(refusal))
        return kept.getvalue()


def saved(learner: TrainState, tokenizer: Tokenizer, info: CorpusInfo) -> bytes:
    """The checkpoint of a learner as bytes."""
    with TemporaryDirectory() as folder:
        return checkpoint.save(Path(folder) / "checkpoint.safetensors", learner, tokenizer, info).read_bytes()
