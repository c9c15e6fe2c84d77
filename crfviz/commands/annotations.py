"""`python -m crfviz annotations`: use the store of annotations.

The page Annotate uses the same store: a SQLite file, or the database in CRFVIZ_DATABASE_URL or
--database.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import NoReturn

import torch
from tqdm import tqdm

from crfviz.annotations.curation import COPIES, chosen_copies, learnable
from crfviz.annotations.files.exporting import (
    FILE_FORMATS,
    FOREIGN_SUFFIXES,
    SUFFIXES,
    foreign,
    rendered,
)
from crfviz.annotations.files.importing import INPUT_FORMATS, Import, read_items
from crfviz.annotations.files.merging import (
    Known,
    conflicts,
    keep,
    known_documents,
    planned,
)
from crfviz.annotations.files.roles import ROLES, with_role
from crfviz.annotations.mixing import TagRules, in_words, tag_sets
from crfviz.annotations.records import STATES, Merged
from crfviz.annotations.settings import settings_of_text
from crfviz.annotations.store.store import Store, file_of, open_store
from crfviz.annotations.teaching.propose import FAMILIES, propose_model, score_in_words
from crfviz.commands.annotation_figures import print_enough, print_statistics
from crfviz.commands.name_checks import require_file, require_folder, require_known
from crfviz.commands.reading_options import (
    add_reading_arguments,
    in_flags,
    say_reading,
    wanted_of,
)
from crfviz.commands.tag import printable
from crfviz.commands.teach import announce, show_progress, stop_when_asked, write_json_line
from crfviz.exceptions import CrfvizError, FormatError
from crfviz.taggers.blank import UNSET
from crfviz.taggers.tagger import CRF
from crfviz.text.files import abbreviate, write_atomically
from crfviz.text.readers.spelling import TARGETS
from crfviz.text.splitting import ENGLISH

BRINGING = ("import", "new")
SHOWN = 20  # maximum number of problems printed per file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `annotations`."""
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="COMMAND")
    export = kinds.add_parser("export", help="write annotations to a file or standard output")
    _add_filters(export)
    export.add_argument("--state", choices=STATES, help="only these (default: all)")
    export.add_argument(
        "--copies",
        choices=COPIES,
        help="one copy of the sentences that were settled or on which all agree, or every copy",
    )
    export.add_argument(
        "--format",
        choices=(*FILE_FORMATS, *FOREIGN_SUFFIXES),
        help="default: by the name of --out; from conll2003 on the final tags alone",
    )
    export.add_argument("--scheme", choices=TARGETS, help="of entities, for other programs")
    export.add_argument("--out", type=Path, metavar="FILE", help="default: standard output")
    bring = kinds.add_parser("import", help="store the sentences of files, with their annotations")
    bring.add_argument("files", nargs="+", type=Path, metavar="FILE")
    bring.add_argument("--format", choices=INPUT_FORMATS, help="default: told from the content")
    ways = bring.add_mutually_exclusive_group()
    ways.add_argument(
        "--merge",
        action="store_true",
        help="join annotations to documents that have the same sentences",
    )
    ways.add_argument(
        "--separate", action="store_true", help="store such sentences once more, under a new name"
    )
    bring.add_argument(
        "--tags-are",
        choices=ROLES,
        help="the tags of a file: finished work (--by), proposals to check, or a hidden reference "
        "(default)",
    )
    bring.add_argument("--by", metavar="NAME", help="the annotator of finished work")
    bring.add_argument("--keep-good", action="store_true", help="leave out what cannot be read")
    for kind in (export, bring):
        kind.add_argument(
            "--mixed-tags", action="store_true", help="different sets of tags in one file, too"
        )
    new = kinds.add_parser("new", help="store sentences that are labelled with tags of their own")
    new.add_argument("name", metavar="NAME", help="of the document")
    new.add_argument("files", nargs=1, type=Path, metavar="FILE", help="in any format of import")
    new.add_argument("--format", choices=INPUT_FORMATS, help="default: told from the content")
    new.add_argument(
        "--tags",
        required=True,
        metavar="A,B=b,C",
        help="names, some with a key behind =; names with a comma or = in double quotes, as in CSV",
    )
    new.add_argument("--bio", action="store_true", help="they are types of entities")
    for kind in (bring, new):
        add_reading_arguments(kind, tags=kind is bring)
        kind.add_argument(
            "--tokenizer",
            default="",
            metavar="NAME",
            help="splits texts: spacy:CODE, characters or blanks (default: spacy:en)",
        )
    propose = kinds.add_parser(
        "propose", help="train a model on a document; it proposes from then on"
    )
    propose.add_argument("document", metavar="NAME", help="of the document")
    propose.add_argument("--as", dest="model", required=True, metavar="MODEL", help="its name")
    propose.add_argument("--family", choices=FAMILIES, default=CRF, help="default: %(default)s")
    propose.add_argument("--annotator", metavar="WHO", help="learn from this one (default: all)")
    propose.add_argument(
        "--copies", choices=COPIES[:1], help="leave out what annotators disagree about"
    )
    propose.add_argument("--json-lines", action="store_true", help="for programs")
    stats = kinds.add_parser("stats", help="how far every annotator is in every document")
    _add_filters(stats)
    stats.add_argument("--json", action="store_true", help="as JSON instead of a table")
    enough = kinds.add_parser("enough", help="whether more labels pay: a learning curve")
    enough.add_argument("labels", metavar="DOCUMENT|FILE", help="in the store, or a tagged file")
    enough.add_argument("--json", action="store_true", help="as JSON instead of a table")
    for kind in (export, bring, new, propose, stats, enough):
        kind.add_argument("--database", metavar="URL", help="instead of CRFVIZ_DATABASE_URL")


def main(options: argparse.Namespace) -> int:
    """Run the subcommand; return 0.

    Raises:
        CrfvizError: the store or a file cannot be read or written; the message says why.
    """
    kinds: dict[str, Callable[[Store, argparse.Namespace], None]]
    kinds = {
        "export": _export,
        "import": _import,
        "new": _new,
        "propose": _propose,
        "stats": print_statistics,
    }
    if options.kind == "enough":
        print_enough(options)
        return 0
    if options.kind == "import" and (options.tags_are == "work") != bool(options.by):
        raise FormatError("--tags-are work needs --by NAME, the annotator, and nothing else does")
    if options.kind == "export":
        _format(options)
        require_folder(options.out)
    for path in vars(options).get("files", ()):
        require_file(path)
    _require_store(options)
    with open_store(options.database) as store:
        if options.kind not in BRINGING:
            require_known("--document", options.document, (d.name for d in store.documents()))
            require_known("--annotator", options.annotator, store.annotators(options.document))
        kinds[options.kind](store, options)
    return 0


def _require_store(options: argparse.Namespace) -> None:
    """Reject a missing store; `import` and `new` may create one in an existing folder."""
    file = file_of(options.database)
    if file is not None and options.kind not in BRINGING:
        require_file(file)
    elif options.database:
        require_folder(file)


def _add_filters(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--document", metavar="NAME", help="only this one (default: all)")
    parser.add_argument("--annotator", metavar="NAME", help="only this one (default: all)")


def _export(store: Store, options: argparse.Namespace) -> None:
    file_format = _format(options)
    annotations = store.annotations(options.document, options.annotator, options.state)
    settings = {each.name: each.settings for each in store.documents()}
    sets = tag_sets(annotations, {name: own.tags for name, own in settings.items()})
    if len(sets) > 1 and not options.mixed_tags:
        raise FormatError(
            f"expected annotations with one set of tags, got {in_words(sets)}: choose a document "
            f"(--document NAME), or --mixed-tags for a file with all of them; nothing was written"
        )
    try:
        pairs = chosen_copies(annotations, options.copies)
    except CrfvizError as error:
        raise FormatError(f"{error} (--annotator NAME or --copies); nothing was written") from error
    if not pairs:
        message = "no annotation is left by the options"
        if options.out is not None:
            raise FormatError(f"{options.out}: {message}; nothing was written")
        sys.stderr.write(f"{message}\n")
    pieces: Iterable[bytes]
    if own := next((name for name in FILE_FORMATS if name == file_format), None):
        if options.scheme:
            raise FormatError(f"--scheme is for the formats {', '.join(FOREIGN_SUFFIXES)}")
        pieces = (piece.encode() for piece in rendered(pairs, own, settings))
    else:
        pieces = [foreign(pairs, file_format, options.scheme)]
    if options.out is None:
        sys.stdout.buffer.writelines(pieces)
        return
    _write(options.out, list(pieces))
    sys.stderr.write(f"{len(pairs)} annotations written to {options.out} ({file_format})\n")


def _format(options: argparse.Namespace) -> str:
    """Return the requested format; by default the one of the file's suffix, or CoNLL-U."""
    if options.format or options.out is None or not options.out.suffix:
        chosen: str = options.format or "conllu"
        return chosen
    by_name = {suffix: name for name, suffix in SUFFIXES.items()}
    require_known("--out without --format: the end of the name", options.out.suffix, by_name)
    return by_name[options.out.suffix]


def _write(path: Path, pieces: Sequence[bytes]) -> None:
    if path.exists() and not path.is_file():
        raise FormatError(f"{path}: cannot be written: it is no plain file")
    write_atomically(path, pieces)


def _import(store: Store, options: argparse.Namespace) -> None:
    for path in options.files:
        read = _in_role(path, _read(path, options), options)
        known = {} if options.separate else known_documents(store, read)
        if known and not options.merge:
            existing = ", ".join(printable(each.document) for each in known.values())
            raise FormatError(
                f"{path}: the sentences of {existing} are in the store already, so nothing of it "
                f"was stored; --merge adds its annotations there, --separate stores them once more"
            )
        plans = planned(store, known)
        for name, plan in plans.items():
            _say_merging(path, known[name], plan)
        fresh = [document for document in read.documents if document.name not in known]
        sentences = sum(len(document.items) for document in fresh)
        labelled = sum(len(document.annotations) for document in fresh)
        labelled += sum(len(plan.new) for plan in plans.values())
        with tqdm(
            total=len(read.items) + len(read.annotations), unit="row", leave=False, disable=None
        ) as bar:
            names = keep(store, read, partial(_show, bar), known)
        sys.stderr.write(
            f"{path}: {read.format}, {_count(sentences)} and {labelled} "
            f"annotations stored as {', '.join(names) or 'nothing'}\n"
        )


def _in_role(path: Path, read: Import, options: argparse.Namespace) -> Import:
    tagged = sum(item.gold is not None for item in read.items) if not read.annotations else 0
    if tagged and options.tags_are is None:
        sys.stderr.write(
            f"{path}: the tags of {_count(tagged)} are a hidden reference; --tags-are work --by "
            "NAME stores them as finished work, --tags-are proposals lets the desk propose them\n"
        )
    return with_role(read, options.tags_are or "reference", options.by or "")


def _read(path: Path, options: argparse.Namespace, rules: TagRules | None = None) -> Import:
    """Read a file; return the sentences that can be stored, and report the others."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise FormatError(f"{path}: expected a file to read: {error.strerror}") from error
    rules = rules or TagRules(mixed=options.mixed_tags)
    read = read_items(
        content,
        path.name,
        options.format,
        rules=rules,
        tokenizer=options.tokenizer,
        wanted=wanted_of(options),
        limit=None,
    )
    say_reading(path, read.reading)
    for problem in read.problems[:SHOWN]:
        left_out = " (left out)" * problem.dropped
        sys.stderr.write(f"{in_flags(problem.message, options)}{left_out}\n")
    if read.wrong > SHOWN:
        sys.stderr.write(f"... and {read.wrong - SHOWN} more\n")
    if read.dropped and not options.keep_good:
        mixed = "; --mixed-tags stores tags of both kinds" if read.mixed else ""
        why = "cannot be kept" if read.mixed == read.dropped else "cannot be read"
        raise FormatError(
            f"{path}: {_count(read.dropped)} {why}, so nothing of it was stored; --keep-good "
            f"stores the {len(read.items)} others{mixed}"
        )
    if not read.items:
        raise FormatError(f"{path}: expected sentences, got none; nothing of it was stored")
    return read


def _new(store: Store, options: argparse.Namespace) -> None:
    (path,), name = options.files, options.name
    settings = settings_of_text(options.tags, bio=options.bio)
    own = "" if options.tokenizer == ENGLISH else options.tokenizer
    settings = replace(settings, tokenizer=own)
    tags = settings.tags or ()
    if not name.strip():
        raise FormatError("expected a name for the document, got none")
    if name in {document.name for document in store.documents()}:
        raise FormatError(f"there is a document {abbreviate(name)} already; choose another name")
    options.mixed_tags, options.keep_good = True, False
    read = _read(path, options, TagRules(tags, mixed=True))
    strange = {tag for each in read.annotations for tag in each.final} - {*tags, UNSET}
    if read.unknown or strange:
        raise FormatError(
            f"{path}: expected the tags {', '.join(tags)}, got "
            f"{abbreviate(min({*read.unknown, *strange}))}; nothing of it was stored"
        )
    store.add(name, read.items, None, read.annotations, settings)
    sys.stderr.write(
        f"{path}: {_count(len(read.items))} stored as {printable(name)}, to be labelled with "
        f"{', '.join(tags)}\n"
    )


def _propose(store: Store, options: argparse.Namespace) -> None:
    document = next(each for each in store.documents() if each.name == options.document)
    try:
        pairs = learnable(store.annotations(options.document, options.annotator), options.copies)
    except CrfvizError as error:
        raise FormatError(f"{error} (--annotator WHO or --copies); nothing was trained") from error
    torch.set_num_threads(1)  # for the same weights on every machine, and a free core for the app
    with stop_when_asked():
        report = announce if options.json_lines else show_progress
        proposal = propose_model(store, document, options.model, pairs, report, options.family)
    if options.json_lines:
        write_json_line(result=asdict(proposal))
    else:
        sys.stdout.write(f"{proposal.name}: {score_in_words(proposal.score)}\n")


def _say_merging(path: Path, known: Known, plan: Merged) -> None:
    lines = conflicts(known, plan)
    for line in lines[:SHOWN]:
        sys.stderr.write(f"{path}: {printable(line)}\n")
    if len(lines) > SHOWN:
        sys.stderr.write(f"... and {len(lines) - SHOWN} more\n")
    sys.stderr.write(
        f"{path}: {len(plan.new)} annotations are new in {printable(known.document)}, {plan.same} "
        f"were there, {len(lines)} contradict what is there\n"
    )


def _count(sentences: int) -> str:
    return "1 sentence" if sentences == 1 else f"{sentences} sentences"


def _show(bar: "tqdm[NoReturn]", done: int, _of: int) -> None:
    bar.update(done - bar.n)
