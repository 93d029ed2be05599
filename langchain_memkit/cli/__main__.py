"""Run the command as `python -m langchain_memkit.cli`."""

from langchain_memkit.cli import main

if __name__ == "__main__":
    main()
