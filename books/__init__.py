"""Books as data and as files: a story written to Markdown, text, EPUB, DOCX and HTML, a manuscript read from them."""
