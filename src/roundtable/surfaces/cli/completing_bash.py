"""What bash is given to complete a line with.

Bash takes `example:rails` and `--models=muse=opus` apart at each colon and equals sign, asks about
the last piece, and replaces that piece alone. So the pieces are put together before the program is
asked, and what stands before the last one is taken off its answers.
"""

from __future__ import annotations

from click.shell_completion import BashComplete

_SCRIPT = """\
%(complete_func)s() {
    local IFS=$'\\n' words=() rest=${COMP_LINE:0:COMP_POINT} glued= piece i
    for ((i = 0; i <= COMP_CWORD; i++)); do
        [[ $i == 0 || -z $rest || $rest == [[:space:]]* ]] && glued= || glued=yes
        rest=${rest#"${rest%%%%[![:space:]]*}"}
        piece=${COMP_WORDS[i]}
        # Of the word under the cursor, what stands before it.
        ((i == COMP_CWORD)) && piece=$rest
        if [[ $glued ]]; then words[${#words[@]}-1]+=$piece; else words+=("$piece"); fi
        rest=${rest#"$piece"}
    done

    local current=${words[${#words[@]}-1]} option= before= value type response completion
    if [[ $current == --*=* ]]; then
        option=${current%%%%=*}=
        current=${current#*=}
        [[ $COMP_WORDBREAKS == *=* ]] && option=
    fi
    # What is in quotation marks is not taken apart.
    if [[ $current != [\\'\\"]* ]]; then
        for ((i = 0; i < ${#current}; i++)); do
            piece=${current:i:1}
            [[ $piece == [:=@] && $COMP_WORDBREAKS == *"$piece"* ]] && before=${current:0:i+1}
        done
    fi

    response=$(env COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) \\
%(complete_var)s=bash_complete "$1")

    for completion in $response; do
        type=${completion%%%%,*}
        value=${completion#*,}
        if [[ $type == dir ]]; then
            COMPREPLY=()
            compopt -o dirnames
        elif [[ $type == file ]]; then
            COMPREPLY=()
            compopt -o default
        elif [[ $type == plain ]]; then
            # Something is to follow it at once.
            [[ $value == *[:=] ]] && compopt -o nospace
            COMPREPLY+=("$option${value#"$before"}")
        fi
    done

    return 0
}

%(complete_func)s_setup() {
    complete -o nosort -F %(complete_func)s %(prog_name)s
}

%(complete_func)s_setup;
"""


class Bash(BashComplete):
    """Click's own, with a script that knows words with colons and equals signs in them."""

    source_template = _SCRIPT
