"""Tables of a comparison."""


def number(value):
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


def change(value, stock):
    if value == stock:
        return "="
    return f"{(value - stock) / stock * 100:+.2f} %" if stock else "new"


def table(rows, header):
    """Yields the lines of a table: the first column is left-aligned, the others are right-aligned."""
    cells = [header, *rows]
    widths = [max(len(str(row[i])) for row in cells) for i in range(len(header))]
    for row in cells:
        first, *rest = [str(cell) for cell in row]
        yield (
            "  ".join([first.ljust(widths[0]), *(c.rjust(w) for c, w in zip(rest, widths[1:], strict=True))])
        ).rstrip()


def side_by_side(totals, names, keys):
    """Yields a table of totals: one line for each key, and one column for each configuration with its change relative
    to the first one."""
    rows = []
    for key in keys:
        stock = totals[names[0]].get(key, 0)
        row = [key, number(stock)]
        for name in names[1:]:
            value = totals[name].get(key, 0)
            row += [number(value), change(value, stock)]
        rows.append(row)
    header = ["", names[0]]
    for name in names[1:]:
        header += [name, ""]
    return table(rows, header)
