"""Imported by the process that servers are forked from: what each would import and load anew."""

import crfviz.ui.annotate.add
import crfviz.ui.annotate.agreement
import crfviz.ui.annotate.desk
import crfviz.ui.annotate.export
import crfviz.ui.annotate.learning
import crfviz.ui.shell.frame  # noqa: F401
from crfviz.ui import cached

cached.warm_up()
