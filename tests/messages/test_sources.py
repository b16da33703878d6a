"""Each message is in the library that its source names, as installed here."""

import mmap
import re
import struct
import sys
from functools import cache
from pathlib import Path

import pytest

from failbench.messages.catalogue import messages

SAID = [(*one.partition(": "), each) for each in messages() for one in each.source.split("; ")]
MODULES = {"HDF5": "h5py", "NumPy": "numpy", "Pillow": "PIL", "scikit-learn": "sklearn"}
PACKAGES = [Path(path) for path in sys.path if path.endswith("-packages")]
# the libraries of the field's programs lie in an environment of their own
PACKAGES += Path(__file__).parents[2].glob(".venv-field/lib/python*/site-packages")
CARDS = "builds for processors lack it, and those for cards do not"
LACKING = {
    CARDS: """torch card_not_started card_taken communicator_id_not_got cuda_memory_in_pieces
    cuda_out_of_memory group_left_open mps_buffer_too_large mps_has_no_double watchdog
    mps_operation_on_cpu mps_part_left_behind rank_to_card_unknown timeout_of_another_rank
    recurrent_backward_in_evaluation""",
    "a value is among its words": """torch array_of_objects error_in_worker no_examples no_graph
    spawned_rank_killed; PIL image_shape_of_array; HDF5 hdf5_file_locked; datasets split_not_chosen;
    jax jax_sharding_uneven; numpy numpy_result_type; torchmetrics metric_lacks_a_class;
    transformers hub_unreachable""",
    "Python or a template says it": """torch plateau_without_metric weights_file_is_none;
    transformers chat_refused""",
    "the texts of the module are packed": "NumPy numpy_sample_larger; h5py hdf5_objects",
    "another version says it": """tokenizers tokenizer_forked; transformers labels_not_named
    weights_file_is_none; trl divergence_negative nothing_to_learn_from prompt_tokens_differ""",
    "another file says it": "jax tensorflow_memory",
}


@cache
def printed(path):
    """The texts of a file of Python as they are printed: joined, and without escapes."""
    joined = re.sub(r"""["']\s*\+?\s*[rf]?["']""", "", path.read_text("utf-8", "replace"))
    text = re.sub(r"""\\(["'\\])""", r"\1", joined.replace("{{", "{").replace("}}", "}"))
    return re.sub(r"(?:\s|\\n|\\\n)+", " ", text)


@cache
def unjoined(folder):
    return "\n".join(path.read_text("utf-8", "replace") for path in folder.rglob("*.py"))


@cache
def compiled(folder):
    """What ELF files hold that is neither written nor executed."""
    found = []
    for path in (*folder.rglob("*.so*"), *Path(f"{folder}.libs").glob("*.so*")):
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as held:
            if held[:4] == b"\x7fELF":
                start, width, rows = struct.unpack_from("<Q10xHH", held, 40)
                parts = struct.iter_unpack("<4xIQ8xQQ24x", held[start : start + width * rows])
                found += [held[at : at + n] for is_a, f, at, n in parts if (is_a, f & 7) == (1, 2)]
    return b"\n".join(found).decode("latin-1")


def is_said(pattern, folder, place):
    """Whether the file that is named says what a pattern asks for letter by letter, or C++ does."""
    flat = re.sub(r"\^?\w+(?:Error|Warning): ", "|", pattern.replace("(?:", "("))
    found = re.findall(r"(?:[^\\()\[\]{}|.?*+^$]|\\[^\w\s]){6,}(?![?*{])", flat)
    runs = [re.sub(r"\\(.)", r"\1", run) for run in found]
    telling = [run for run in runs if len(run) >= 14] or [max(runs, key=len)]  # no chance finds
    paths = [at / one for at in (folder.parent, folder) for one in place.split(", ")]
    texts = [printed(path) for path in paths if path.suffix == ".py" and path.is_file()]
    texts.append(compiled(folder))
    if not re.search(r"\.(?:py|cpp|mm|cu|h)$", place):  # a topic, or a folder
        texts.append(unjoined(folder))
    return any(run in text for text in texts for run in telling)


@pytest.mark.skipif(sys.platform != "linux", reason="compiled files are read as Linux has them")
@pytest.mark.parametrize("library", sorted({library for library, *_ in SAID}))
def test_messages_are_in_the_source_of_their_library(library):
    folders = (folder / MODULES.get(library, library) for folder in PACKAGES)
    folder = next(filter(Path.is_dir, folders), None) or pytest.skip("no library installed here")
    asked = [(each, place) for name, _, place, each in SAID if name == library]
    lacking = {each.id for each, at in asked if not is_said(each.pattern.pattern, folder, at)}
    listed = [(why, one.split()) for why, some in LACKING.items() for one in some.split(";")]
    excused = {name: why for why, (of, *names) in listed for name in names if of == library}
    assert lacking | {name for name, why in excused.items() if why == CARDS} == {*excused}
