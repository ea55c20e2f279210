"""Small pictures as inline SVG: the opinion map, agreement between participants, convergence.

They are drawn with presentation attributes only, without styles or scripts, so that they show under
a strict content policy; a page may colour them through their classes. Lines and letters take the
colour of the text around them, and no meaning hangs on colour alone: shapes and words carry it too.
"""

from .agreement_matrix import agreement_matrix_svg as agreement_matrix_svg
from .agreement_matrix import scores_svg as scores_svg
from .convergence_chart import convergence_chart_svg as convergence_chart_svg
from .opinion_map import opinion_map_svg as opinion_map_svg
